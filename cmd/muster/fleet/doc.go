// Package fleet holds the commands on what stands behind clusters: provisioners, pools of machines and orphaned machines.
//
// It uses cli, and asks a server over the REST API alone.
package fleet
