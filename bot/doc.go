// Package bot is the chat face without a chat: it reads what people write, calls use cases in their name, and returns
// answers and cards as values. It never talks to a chat service; those clients are in bot/<chat>. An *app.Error becomes
// part of the answer; any other error is logged and shown as an internal error.
package bot
