// Package bot is the chat face without any chat: it reads what people say, calls app's use cases in their name, and gives
// answers and cards as values. It never speaks to a chat itself: those clients live in bot/<chat>. What goes wrong is part
// of the answer, in the words of the *app.Error that app gave; the rest is logged and told as an internal error.
package bot
