// Package fleet holds the commands for what clusters run on: provisioners, pools of machines and orphaned machines. It
// uses cli and the REST API only.
package fleet
