// Package aws is Amazon EC2, one account in one region, through AWS's own SDK. The SDK's retries are off: when to ask again is for Muster to
// say. A machine is an EC2 instance; a cluster's firewall is a security group. Errors are *app.Error, or what the network said.
package aws
