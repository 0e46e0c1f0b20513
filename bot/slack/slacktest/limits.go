package slacktest

import "time"

// Limits of Slack, in letters (UTF-16 units) where nothing else is said. Sources: docs.slack.dev, the references of Block Kit (blocks, block
// elements, composition objects), of views, of rate limits, of interactivity and of Socket Mode.
const (
	maxBlocksMessage = 50
	maxBlocksView    = 100
	maxMessageText   = 40000
	maxMessageBlocks = 11000 // of all texts in the blocks of one posted message: msg_blocks_too_long; not documented, see slackapi/bolt-js issues 2509 and 2867
	maxViewBytes     = 250 << 10
	maxID            = 255 // block_id, action_id, callback_id, external_id

	maxText        = 3000 // of any text object, so of a section
	maxHeader      = 150
	maxField       = 2000
	maxFields      = 10
	maxContext     = 10
	maxActions     = 25
	maxURL         = 3000
	maxAlt         = 2000
	maxLabel       = 2000 // label and hint of an input
	maxButton      = 75   // its text, and its label for screen readers
	maxButtonValue = 2000
	maxPlaceholder = 150
	maxOptions     = 100 // and groups
	maxGroupLabel  = 75
	maxOptionText  = 75 // and description
	maxOptionValue = 150
	maxBoxes       = 10 // options of checkboxes and radio buttons
	maxOverflow    = 5
	maxInput       = 3000
	maxMarkdown    = 12000

	maxConfirmTitle = 100
	maxConfirmText  = 300
	maxConfirmWord  = 30

	maxViewTitle    = 24 // and of submit and close
	maxViewMetadata = 3000
	maxViewStack    = 3

	answerWithin  = 3 * time.Second // a delivery
	triggerLife   = 3 * time.Second
	responseLife  = 30 * time.Minute
	responseUses  = 5
	maxAckBytes   = 20 << 10 // of an answer over a websocket; Slack drops longer ones without a word
	maxConnected  = 10
	ticketLife    = 30 * time.Second // of a websocket's address
	tokenLife     = 12 * time.Hour   // of a rotated token
	codeLife      = 10 * time.Minute // of an OAuth code
	maxCallSize   = 1 << 20
	channelBurst  = 3 // messages that one channel takes at once beyond one a second
	maxPerMinute  = 300
	tierOne       = 1 // calls a minute
	tierTwo       = 20
	tierThree     = 50
	tierFour      = 100
	special       = 300
	maxUnfurlURLs = 10
)

// retryAfter is when a delivery of an event that has failed is tried again.
var retryAfter = []time.Duration{0, time.Minute, 5 * time.Minute}
