/* Search from disk: browsers refuse workers to pages that are opened as files, so a hidden frame does their work.

   The theme would load such a script from elsewhere; it recognises this one by its name, and its worker by IFrameWorker. */
(function () {
  "use strict";
  if (location.protocol !== "file:") return;

  function load(frame, address) {
    return new Promise(function (resolve, reject) {
      const script = frame.document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = function () {
        reject(new Error("cannot load " + address));
      };
      frame.document.body.appendChild(script);
    });
  }

  class IFrameWorker extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.element = frame;
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
      inside.importScripts = (...addresses) =>
        addresses.reduce((before, one) => before.then(() => load(inside, one)), Promise.resolve());
      this.ready = load(inside, new URL(address, document.baseURI).href); // what is sent before waits for it
    }

    postMessage(data) {
      const inside = this.element.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.element.remove();
    }
  }

  window.IFrameWorker = window.Worker = IFrameWorker;
})();
