package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// maxPrepared is how many statements each connection that reads keeps prepared. One takes some kilobytes.
const maxPrepared = 200

// preparing connects to an SQLite file. Its connections keep the statements they have prepared, as pgx does for PostgreSQL, since SQLite takes
// longer to parse and plan most of ours than to run them.
type preparing struct{ driver.Connector }

// Connect implements [driver.Connector].
func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("SQLite's driver made a connection of type %T, which can't be used", c), c.Close())
	}
	return &preparedConn{sqliteConn: conn, of: map[string]*preparedStmt{}}, nil
}

// sqliteConn is what database/sql uses of a connection that only reads.
type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.SessionResetter
	driver.Validator
}

// preparedConn is a connection with its prepared statements. database/sql uses it from one goroutine at a time.
type preparedConn struct {
	sqliteConn
	of   map[string]*preparedStmt
	uses int // counts up; the statement with the lowest last use is the next to be closed
}

type preparedStmt struct {
	sqliteStmt
	reading bool // its rows are being read
	last    int
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtQueryContext
}

var _ driver.QueryerContext = (*preparedConn)(nil)

// QueryContext implements [driver.QueryerContext].
func (c *preparedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	st := c.of[query]
	if st != nil && st.reading { // what is done for each of its rows asks the same
		return nil, driver.ErrSkip // database/sql prepares it again, for this use only
	}
	if st == nil {
		var err error
		if st, err = c.prepare(ctx, query); err != nil {
			return nil, err
		}
	}
	c.uses++
	st.last = c.uses
	rows, err := st.QueryContext(ctx, args)
	if err != nil {
		c.drop(query)
		return nil, err
	}
	st.reading = true
	return &preparedRows{rows, c, query}, nil
}

func (c *preparedConn) prepare(ctx context.Context, query string) (*preparedStmt, error) {
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	st, ok := s.(sqliteStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("SQLite's driver made a statement of type %T, which can't be used", s), s.Close())
	}
	c.makeRoom()
	c.of[query] = &preparedStmt{sqliteStmt: st}
	return c.of[query], nil
}

// makeRoom closes the statement whose last use is the longest ago, if there are too many.
func (c *preparedConn) makeRoom() {
	if len(c.of) < maxPrepared {
		return
	}
	var oldest *preparedStmt
	var of string
	for query, st := range c.of {
		if !st.reading && (oldest == nil || st.last < oldest.last) {
			oldest, of = st, query
		}
	}
	if oldest != nil {
		c.drop(of)
	}
}

func (c *preparedConn) drop(query string) {
	_ = c.of[query].Close()
	delete(c.of, query)
}

// Close implements [driver.Conn]. SQLite keeps a closed connection's memory until its statements are closed, too.
func (c *preparedConn) Close() error {
	for query := range c.of {
		c.drop(query)
	}
	return c.sqliteConn.Close()
}

type preparedRows struct {
	driver.Rows
	conn  *preparedConn
	query string
}

// Close implements [driver.Rows]. A statement that failed is prepared again for its next use.
func (r *preparedRows) Close() error {
	err := r.Rows.Close()
	if st := r.conn.of[r.query]; st != nil {
		st.reading = false
		if err != nil {
			r.conn.drop(r.query)
		}
	}
	return err
}
