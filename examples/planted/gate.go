package depot

import (
	"crypto/tls"
	"database/sql"
	"fmt"
	"net/http"
	"os"
)

// Parcel is one row of the table of parcels.
type Parcel struct{ ID, Place string }

func find(db *sql.DB, owner string) (*sql.Rows, error) {
	// Planted: the owner's name becomes part of the statement.
	return db.Query(fmt.Sprintf("SELECT id, place FROM parcels WHERE owner = '%s'", owner))
}

func carrierClient() *http.Client {
	// Planted: anybody can pose as the carrier.
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

func readAll(paths []string) error {
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		// Planted: all files stay open until the last one is read.
		defer file.Close()
	}
	return nil
}
