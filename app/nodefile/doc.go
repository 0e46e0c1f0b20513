// Package nodefile lists, downloads and uploads files of nodes for people in browsers, over SSH, as the login user of the node: so the machine's own
// permissions decide. Who may open a terminal on a node may do this, and each download and upload is in the audit log. Content goes through, and is
// kept nowhere.
package nodefile
