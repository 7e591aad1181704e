"""An HTTP server for one stored model: predictions as JSON, and a page for a browser; it never writes."""
