package site

import (
	"net/http"
	"strings"
)

const TenantSettingsPath = "/tenant-settings"

// SettingsUpload tells requests that bring a file of settings, which has a limit of its own.
func SettingsUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, APIPath+TenantSettingsPath+"/")
}
