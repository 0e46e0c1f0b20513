package slacktest

import "time"

// Limits of Slack, in letters (UTF-16 units) where nothing else is said. Sources: docs.slack.dev, the references of Block Kit (blocks, block
// elements, composition objects), of views, of rate limits, of interactivity and of Socket Mode.
const (
	mostBlocksMessage = 50
	mostBlocksView    = 100
	mostMessageText   = 40000
	mostMessageBlocks = 11000 // of all texts in the blocks of one posted message: msg_blocks_too_long; not documented, see slackapi/bolt-js issues 2509 and 2867
	mostViewBytes     = 250 << 10
	mostID            = 255 // block_id, action_id, callback_id, external_id

	mostText        = 3000 // of any text object, so of a section
	mostHeader      = 150
	mostField       = 2000
	mostFields      = 10
	mostContext     = 10
	mostActions     = 25
	mostURL         = 3000
	mostAlt         = 2000
	mostLabel       = 2000 // label and hint of an input
	mostButton      = 75   // its text, and its label for screen readers
	mostButtonValue = 2000
	mostPlaceholder = 150
	mostOptions     = 100 // and groups
	mostGroupLabel  = 75
	mostOptionText  = 75 // and description
	mostOptionValue = 150
	mostBoxes       = 10 // options of checkboxes and radio buttons
	mostOverflow    = 5
	mostInput       = 3000
	mostMarkdown    = 12000

	mostConfirmTitle = 100
	mostConfirmText  = 300
	mostConfirmWord  = 30

	mostViewTitle    = 24 // and of submit and close
	mostViewMetadata = 3000
	mostViewStack    = 3

	answerWithin   = 3 * time.Second // a delivery
	triggerLife    = 3 * time.Second
	responseLife   = 30 * time.Minute
	responseUses   = 5
	mostAckBytes   = 20 << 10 // of an answer over a websocket; Slack drops longer ones without a word
	mostConnected  = 10
	ticketLife     = 30 * time.Second // of a websocket's address
	tokenLife      = 12 * time.Hour   // of a rotated token
	codeLife       = 10 * time.Minute // of an OAuth code
	mostCallSize   = 1 << 20
	channelBurst   = 3 // messages that one channel takes at once beyond one a second
	mostPerMinute  = 300
	tierOne        = 1 // calls a minute
	tierTwo        = 20
	tierThree      = 50
	tierFour       = 100
	special        = 300
	mostUnfurlURLs = 10
)

// retryAfter is when a delivery of an event that has failed is tried again.
var retryAfter = []time.Duration{0, time.Minute, 5 * time.Minute}
