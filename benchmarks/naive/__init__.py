"""FTF-ER with the algorithms that come to mind first, as plain as possible, to measure the package against."""
