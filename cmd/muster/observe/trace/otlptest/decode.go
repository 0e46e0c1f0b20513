package otlptest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// Decode reads the body of an export request in OTLP's JSON encoding with OpenTelemetry's own messages. Unknown fields are errors.
func Decode(body []byte) ([]*spans.ResourceSpans, error) {
	var request struct {
		ResourceSpans []map[string]any `json:"resourceSpans"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&request); err != nil {
		return nil, err
	}
	var all []*spans.ResourceSpans
	for _, r := range request.ResourceSpans {
		if err := toProtobuf(r); err != nil {
			return nil, err
		}
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		m := &spans.ResourceSpans{}
		if err := protojson.Unmarshal(text, m); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// idBytes are the lengths of ids. OTLP writes them in hex, where protobuf's JSON has base64.
var idBytes = map[string]int{"traceId": 16, "spanId": 8, "parentSpanId": 8}

// toProtobuf turns OTLP's JSON into protobuf's, and refuses what only the latter allows: names of enums, and keys as .proto files have them.
func toProtobuf(v any) error {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if err := toProtobuf(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, one := range v {
			text, isText := one.(string)
			if strings.Contains(key, "_") || isText && (key == "kind" || key == "code") {
				return fmt.Errorf("%s: %v is not as OTLP has it", key, one)
			}
			if n := idBytes[key]; n > 0 {
				id, err := hex.DecodeString(text)
				if err != nil || len(id) != n {
					return fmt.Errorf("%s: %v is not %d bytes in hex", key, one, n)
				}
				v[key] = id // json.Marshal makes base64 of it
			} else if err := toProtobuf(one); err != nil {
				return err
			}
		}
	}
	return nil
}
