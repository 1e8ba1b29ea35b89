package depot

import (
	"database/sql"
	"net/http"
	"os"
	"time"
)

// Parcel is one row of the table of parcels.
type Parcel struct{ ID, Place string }

func find(db *sql.DB, owner string) (*sql.Rows, error) {
	return db.Query("SELECT id, place FROM parcels WHERE owner = $1", owner)
}

func carrierClient() *http.Client {
	return &http.Client{Timeout: 10 * time.Second}
}

func readAll(paths []string) error {
	for _, path := range paths {
		if err := readOne(path); err != nil {
			return err
		}
	}
	return nil
}

func readOne(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return file.Close()
}
