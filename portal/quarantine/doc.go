// Package quarantine shows failed machines that are kept for inspection: the list of them, their part of a cluster's page, and the REST operation. It uses
// packages page and site only.
package quarantine
