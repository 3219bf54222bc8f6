/** One run: what it does, why, what it may still take, and what a person can do. */
export default function RunPage({ runId }: { runId: string }) {
  return <main>{runId}</main>;
}
