// Package slack connects the bot to Slack: slash commands and button clicks arrive over HTTP, signed by Slack, and
// answers, cards and edits are sent through its API. It knows requests, blocks and limits of Slack, and nothing about
// clusters.
package slack
