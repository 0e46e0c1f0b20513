package chef

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/automators/internal/node"
)

const adviceMissing = "Use an image with Chef or Cinc, or set `--chef-package URL#sha256=…` (MUSTER_CHEF_PACKAGE) on the provisioner."

// Package is a package of Chef or Cinc for nodes to get.
type Package struct {
	URL    string // https, its path ends in .deb or .rpm
	SHA256 string // hex
}

var hexSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ParsePackage reads URL#sha256=HEX, as the one who makes the package tells it. Nothing is installed whose sum is not known. EInvalid says what is wrong.
func ParsePackage(text string) (Package, error) {
	wrong := func(why string) (Package, error) {
		return Package{}, &app.Error{Code: app.EInvalid, Reason: "chef_package", Field: "chef-package", Message: "The Chef package is invalid: " + why + ".",
			Hint: "For example, https://packages.example.com/cinc_18.deb#sha256=HEX."}
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" {
		return wrong("it isn't a URL")
	}
	sum := strings.ToLower(strings.TrimPrefix(u.Fragment, "sha256="))
	u.Fragment = ""
	switch {
	case u.Scheme != "https" || u.User != nil:
		return wrong("it must be an https URL without a password")
	case !strings.HasSuffix(u.Path, ".deb") && !strings.HasSuffix(u.Path, ".rpm"):
		return wrong("it must end in .deb or .rpm")
	case !hexSum.MatchString(sum):
		return wrong("its SHA-256 is required")
	}
	return Package{URL: u.String(), SHA256: sum}, nil
}

// fetchChef is shell text that installs the packages that the admin has named, those of $muster_packages, the first that fits.
const fetchChef = `muster_dir=$(mktemp -d) || exit 1
trap 'rm -rf "$muster_dir"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
muster_fetch() {
muster_file=$muster_dir/package.${1##*.}
if command -v curl >/dev/null; then curl -fsSL --proto =https --proto-redir =https --max-time 600 -o "$muster_file" "$1" </dev/null || return 1
elif command -v wget >/dev/null; then wget -q --https-only -O "$muster_file" "$1" </dev/null || return 1
else echo "the node has neither curl nor wget" >&2; return 1; fi
echo "$2  $muster_file" | sha256sum -c - >/dev/null || { echo "the package from $1 does not match its SHA-256" >&2; return 1; }
case $1 in
*.deb)
if command -v apt-get >/dev/null; then apt-get -q -y -o DPkg::Lock::Timeout=600 --no-install-recommends install "$muster_file" </dev/null
else dpkg --install "$muster_file" </dev/null; fi ;;
*.rpm) rpm --upgrade --replacepkgs "$muster_file" </dev/null ;;
esac
}
for muster_pair in $muster_packages; do
case ${muster_pair%=*} in
*.deb) command -v dpkg >/dev/null || continue ;;
*.rpm) command -v rpm >/dev/null && ! command -v dpkg >/dev/null || continue ;;
esac
echo "Installing Chef: downloading ${muster_pair%=*}"
! muster_fetch "${muster_pair%=*}" "${muster_pair##*=}" || break
done
`

// software says how Chef is installed: by what the admin has named first, then by a package of the distribution.
func (c Chef) software() node.Software {
	s := node.Software{
		Name: "Chef", Program: "chef-solo", There: findChef + `[ -n "$muster_chef" ] && "$muster_chef" --version </dev/null`,
		APT: []string{"cinc", "chef"}, RPM: []string{"cinc", "chef"}, Zypper: []string{"cinc", "chef"}, APK: []string{"cinc", "chef"}, Hint: adviceMissing,
	}
	var packages []string
	for _, p := range c.packages {
		packages = append(packages, p.URL+"="+p.SHA256)
	}
	if len(packages) > 0 {
		s.Before = "muster_packages=" + humanize.ShellQuote(strings.Join(packages, " ")) + "\n" + fetchChef
	}
	return s
}

// Bootstrap carries out family.Automator: it looks for Chef or Cinc, and gets it where it is not there: by a package that the admin has named, or by the
// one of the
// distribution. It runs nothing that it has fetched and not checked.
func (c Chef) Bootstrap(ctx context.Context, sh family.Shell, n family.NodeContext, out family.Output) error {
	if err := node.Install(ctx, sh, n, c.software(), out); err != nil {
		return fmt.Errorf("chef-solo: %w", err)
	}
	return nil
}
