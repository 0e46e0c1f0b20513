package site

// KeyDone is the session key of a one-time success message.
const KeyDone = "done"
