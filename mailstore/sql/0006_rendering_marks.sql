-- Renderings are made behind the commit that keeps a message, so it has to be known how far each kind has come.

ALTER TABLE rendering ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
UPDATE rendering SET mark = coalesce(
    (SELECT min(c.id) - 1 FROM content c
        WHERE NOT EXISTS (SELECT 1 FROM rendered r WHERE r.rendering = rendering.id AND r.content = c.id)),
    (SELECT max(id) FROM content),
    0
);
