package site

// KeyDone is what a page says once about what was just done.
const KeyDone = "done"
