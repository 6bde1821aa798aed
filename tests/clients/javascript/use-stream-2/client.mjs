import { useStream } from "@langchain/langgraph-sdk/react";
import { Window } from "happy-dom";
import * as react from "react";
import { createRoot } from "react-dom/client";
import { main } from "../jobs.mjs";
import { useStreamClient } from "../use-stream.mjs";

await main(useStreamClient({ useStream, Window, react, createRoot }));
