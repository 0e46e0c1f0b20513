// Package keylock is a lock for each name, so that members of the family create what exists once, such as a firewall or a host name, one caller after the
// other within this process. It uses nothing of ours.
package keylock
