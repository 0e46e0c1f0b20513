// Package remotetest returns tests a machine to talk to: Start is an SSH server in this process, which can be made to
// misbehave, and OpenSSH is the real thing on 127.0.0.1. Both run commands on this machine as the user that runs the test, with
// a home, a temporary directory and a state root of their own, and leave nothing behind.
package remotetest
