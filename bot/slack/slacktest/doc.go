// Package slacktest is a Slack of our own, for tests: workspaces with people and channels, messages, modals and homes as people
// see them, the API that an app calls, and the deliveries that an app is sent, over HTTP or over Socket Mode's websockets.
//
// It keeps an app to the limits that Slack documents. Whatever breaks one is refused as Slack would refuse it, and noted as a
// Violation; those that a test has not said to expect fail it at its end. It knows nothing of the app: what an app sends is read as
// JSON, not through the library that the app writes it with.
//
// Time is that of Config.Now, of time.Now without it; inside a bubble of testing/synctest everything but websockets over the
// loopback works, and runs at once.
package slacktest
