// Package bot is the chat face without a chat: it reads what people write, calls use cases in their name, and returns
// answers and cards as values. It never talks to a chat service; those clients are in bot/<chat>. An *app.Error becomes
// part of the answer; any other error is logged and shown as an internal error.
//
// Each noun's commands, buttons and forms are a part of its own, in a file of its own, with a narrow interface of what it asks (use_cases.go).
// command.go lists all of them, and bot.go finds who asks and which part answers. An Updater keeps what a chat shows up to date: its sources are
// in updater_*.go.
package bot
