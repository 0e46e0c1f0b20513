// Package userdata writes a new machine's user data, in the form that cloud-init reads, or as a script for clouds that
// run one at each start: its host key, who is let in, its name, and where its data disks go. It speaks to no one.
//
// User data can be read by whatever runs on the machine, as long as the cloud's metadata service answers there. So it holds
// nothing but that machine's own host key; members close the service where they can.
package userdata
