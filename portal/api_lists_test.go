package portal

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"muster/portal/site"
)

type listsInner struct {
	Names []string `json:"names" nullable:"false"`
	Own   *listsInner
}

type listsOuter struct {
	At      time.Time
	List    []listsInner          `json:"list" nullable:"false"`
	Null    []string              `json:"null"`
	Left    []string              `json:"left,omitempty" nullable:"false"`
	Map     map[string]int        `json:"map"`
	Deep    map[string]listsInner `json:"deep"`
	Any     any                   `json:"any"`
	Pointer *listsInner           `json:"pointer"`
	hidden  []string
}

// What is promised is there, at every depth, and what was handed in stays as it was.
func TestAnswersHaveTheListsThatAreDescribed(t *testing.T) {
	build := func() listsOuter {
		return listsOuter{List: []listsInner{{}, {Names: []string{"a"}}}, Deep: map[string]listsInner{"x": {}, "y": {Names: []string{"b"}}}, Any: &listsInner{},
			Pointer: &listsInner{Own: &listsInner{}}, hidden: nil}
	}
	v := build()
	got, err := json.Marshal(site.WithLists(&v))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"At":"0001-01-01T00:00:00Z","list":[{"names":[],"Own":null},{"names":["a"],"Own":null}],"null":null,"map":{},` +
		`"deep":{"x":{"names":[],"Own":null},"y":{"names":["b"],"Own":null}},"any":{"names":[],"Own":null},"pointer":{"names":[],"Own":{"names":[],"Own":null}}}`
	if string(got) != want {
		t.Errorf("it is written as\n%s\nand not\n%s", got, want)
	}
	if !reflect.DeepEqual(v, build()) {
		t.Errorf("it was changed: %+v", v)
	}
	whole := &listsInner{Names: []string{}}
	if site.WithLists(whole) != any(whole) {
		t.Error("an answer that lacks nothing was copied")
	}
	if site.WithLists(nil) != nil || site.WithLists(5) != any(5) {
		t.Error("what has no lists was changed")
	}
}
