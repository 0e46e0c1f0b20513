package site

import (
	"net/http"
	"strings"
)

const TenantSettingsPath = "/tenant-settings"

// SettingsUpload reports whether a request uploads a settings file, which has its own limit.
func SettingsUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, APIPath+TenantSettingsPath+"/")
}
