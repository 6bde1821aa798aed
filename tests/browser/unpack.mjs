// Unpacks Chromium into TMPDIR, and prints where its binary is.

import chromium from "@sparticuz/chromium";

process.stdout.write(await chromium.executablePath());
