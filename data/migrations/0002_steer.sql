-- Words that were put into a running turn are a dispatch of their own, beside the attempt that is open.
ALTER TABLE dispatch ADD COLUMN steered INTEGER NOT NULL DEFAULT 0;
