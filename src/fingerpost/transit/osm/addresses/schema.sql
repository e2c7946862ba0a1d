-- Spellings are plain names, shortest first; near lists features and houses by grid cell.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE thing (
    id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, names TEXT NOT NULL, what TEXT NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL, reach_m REAL NOT NULL, city TEXT NOT NULL);
CREATE TABLE spelling (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE spelling_of (
    spelling INTEGER NOT NULL, thing INTEGER NOT NULL, fit REAL NOT NULL,
    PRIMARY KEY (spelling, thing)) WITHOUT ROWID;
CREATE TABLE house (
    street INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, letter TEXT NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL,
    PRIMARY KEY (street, first, last, letter)) WITHOUT ROWID;
CREATE TABLE near (
    cell INTEGER NOT NULL, lat REAL NOT NULL, lon REAL NOT NULL, thing INTEGER NOT NULL, number TEXT NOT NULL,
    postcode TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'spelling', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0', prefix = '1 2 3');
CREATE VIRTUAL TABLE trigrams USING fts5 (
    text, content = 'spelling', content_rowid = 'id', tokenize = 'trigram', detail = none);
