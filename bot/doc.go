// Package bot is the chat face: it turns what people say and click in chat into calls of app's use cases, and what
// happens to their clusters into messages. It is empty until its own issue; the chat clients will live in bot/<chat>.
package bot
