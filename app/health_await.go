package app

// NamesConfig tells whether values of the configuration stand in the check.
func (h *HealthCheck) NamesConfig() bool {
	return configReference.MatchString(h.Command + h.TCP + h.text("http.port") + " " + h.text("http.path"))
}
