// Package slack connects the bot to Slack: slash commands and button clicks arrive over HTTP, signed by Slack, and
// answers, cards and edits are sent through its API. It knows requests, blocks and limits of Slack, and nothing about
// clusters.
//
// Payloads over HTTP (http.go) or a websocket (socket.go) go to one dispatcher (dispatch.go, action.go, event.go); respond.go answers
// people. Workspaces and their tokens are in team.go, people in people.go, and updaters in updaters.go.
package slack
