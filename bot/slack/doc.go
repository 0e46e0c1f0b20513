// Package slack speaks to Slack for the bot: slash commands and pressed buttons come in over HTTP, signed by Slack, and answers,
// cards and edits go out through its API. It knows requests, blocks and limits of Slack, and nothing of clusters.
package slack
