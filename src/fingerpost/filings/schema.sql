CREATE TABLE companies (
    cik INTEGER PRIMARY KEY, ticker TEXT NOT NULL, name TEXT NOT NULL, sic TEXT, industry TEXT, exchange TEXT,
    currency TEXT NOT NULL, dataset TEXT NOT NULL, retrieved_at TEXT, complete_through TEXT NOT NULL,
    first_end TEXT NOT NULL
);
CREATE TABLE tickers (ticker TEXT NOT NULL, cik INTEGER NOT NULL, PRIMARY KEY (ticker, cik)) WITHOUT ROWID;
CREATE TABLE main_tickers (cik INTEGER PRIMARY KEY, ticker TEXT NOT NULL);
CREATE TABLE listed (
    ticker TEXT NOT NULL, cik INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (ticker, cik)
) WITHOUT ROWID;
CREATE TABLE concepts (
    id INTEGER PRIMARY KEY, cik INTEGER NOT NULL, name TEXT NOT NULL, label TEXT NOT NULL, UNIQUE (cik, name)
);
CREATE TABLE reports (
    id INTEGER PRIMARY KEY, cik INTEGER NOT NULL, accession TEXT NOT NULL, form TEXT NOT NULL, filed TEXT NOT NULL,
    UNIQUE (cik, accession, form, filed)
);
CREATE TABLE reported (
    concept INTEGER NOT NULL, unit TEXT NOT NULL, start_date TEXT NOT NULL, end_date TEXT NOT NULL, value NOT NULL,
    report INTEGER NOT NULL
);
CREATE INDEX reported_by_concept ON reported (concept);
CREATE TABLE fiscal_years (
    cik INTEGER NOT NULL, end_date TEXT NOT NULL, fiscal_year INTEGER NOT NULL, PRIMARY KEY (cik, end_date)
) WITHOUT ROWID;
CREATE TABLE filings (
    cik INTEGER NOT NULL, accession_number TEXT NOT NULL, filing_type TEXT NOT NULL, filing_date TEXT NOT NULL,
    report_date TEXT NOT NULL, document TEXT NOT NULL, description TEXT NOT NULL, PRIMARY KEY (cik, accession_number)
) WITHOUT ROWID;
CREATE TABLE filing_lists (cik INTEGER PRIMARY KEY, is_complete INTEGER NOT NULL, oldest TEXT NOT NULL);
CREATE TABLE sections (
    id INTEGER PRIMARY KEY, cik INTEGER NOT NULL, accession_number TEXT NOT NULL, filing_type TEXT NOT NULL,
    filing_date TEXT NOT NULL, position INTEGER NOT NULL, section_type TEXT NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX sections_by_filing ON sections (accession_number);
CREATE TABLE fetched (
    url TEXT PRIMARY KEY, etag TEXT, last_modified TEXT, retrieved_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE VIEW facts AS
    SELECT companies.ticker AS ticker, companies.cik AS cik, concepts.name AS concept, concepts.label AS label,
        reported.unit AS unit, nullif(reported.start_date, '') AS start_date, reported.end_date AS end_date,
        reported.value AS value, reports.accession AS accession_number, reports.form AS filing_type,
        reports.filed AS filing_date
    FROM reported
    JOIN concepts ON concepts.id = reported.concept
    JOIN reports ON reports.id = reported.report
    JOIN companies ON companies.cik = concepts.cik;
CREATE TABLE paragraphs (
    id INTEGER PRIMARY KEY, section INTEGER NOT NULL,
    start INTEGER NOT NULL, -- counts characters from 1, as SQLite's substr does
    length INTEGER NOT NULL
);
CREATE INDEX paragraphs_by_section ON paragraphs (section);
CREATE VIEW paragraph_texts AS
    SELECT paragraphs.id AS id, section, title, substr(text, start, length) AS text
    FROM paragraphs JOIN sections ON sections.id = section;
CREATE VIRTUAL TABLE paragraph_words USING fts5 (
    title, text, content = 'paragraph_texts', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE TABLE name_changes (cik INTEGER NOT NULL, day TEXT NOT NULL, PRIMARY KEY (cik, day)) WITHOUT ROWID;
CREATE TABLE failed_fetches (ticker TEXT PRIMARY KEY, failed_at TEXT NOT NULL, message TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE instances (
    id INTEGER PRIMARY KEY, cik INTEGER NOT NULL, accession_number TEXT NOT NULL UNIQUE, filing_type TEXT NOT NULL,
    filing_date TEXT NOT NULL, report_date TEXT NOT NULL, fiscal_year INTEGER -- always null
);
CREATE TABLE instance_facts (
    instance INTEGER NOT NULL, concept TEXT NOT NULL, unit TEXT NOT NULL, start_date TEXT NOT NULL,
    end_date TEXT NOT NULL, value NOT NULL,
    members TEXT NOT NULL -- a JSON object of axes and members; empty for a total
);
CREATE INDEX instance_facts_by_concept ON instance_facts (instance, concept);
CREATE TABLE instance_labels (
    instance INTEGER NOT NULL, name TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (instance, name)
) WITHOUT ROWID;
