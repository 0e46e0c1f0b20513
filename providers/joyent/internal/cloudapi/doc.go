// Package cloudapi speaks Triton's CloudAPI (version 8 and later) over HTTP, as much of it as Muster needs. Requests are signed with a key that the account
// knows, and sent once: when to ask again is for others to say. What the cloud refuses is an *Error; anything else is a failure of the network.
package cloudapi
