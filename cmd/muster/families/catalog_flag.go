package families

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"muster/app/file/catalog"
	"muster/app/template"
	"muster/cmd/muster/cli"
)

// CatalogFlag names the directories of a catalog.
type CatalogFlag struct {
	Dirs []string
}

func (f *CatalogFlag) Declare(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.Dirs, "catalog", "c", nil, "catalog `directory`; may be repeated (default $MUSTER_CATALOG)")
}

// Directories returns the catalog directories, from the flag or else MUSTER_CATALOG.
func (f *CatalogFlag) Directories() ([]string, error) {
	dirs := f.Dirs
	if len(dirs) == 0 {
		dirs = slices.DeleteFunc(filepath.SplitList(os.Getenv("MUSTER_CATALOG")), func(dir string) bool { return dir == "" })
	}
	if len(dirs) == 0 {
		return nil, cli.Usagef("--catalog is required").Hint("Name the catalog's directory with --catalog DIR, or set MUSTER_CATALOG.")
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil {
			return nil, cli.Usagef("can't read the catalog: %v", err)
		} else if !info.IsDir() {
			return nil, cli.Usagef("%s is not a directory", dir).Hint("A catalog is a directory with folders such as templates and services.")
		}
	}
	return dirs, nil
}

// Load reads the catalog. It needs neither secrets nor clouds, so providers aren't checked.
func (f *CatalogFlag) Load() (*template.Catalog, error) {
	dirs, err := f.Directories()
	if err != nil {
		return nil, err
	}
	return catalog.Load(catalog.Options{}, dirs...)
}
