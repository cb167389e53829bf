import type { Server } from '../v1alpha1/server.ts';

/**
 * Whether a request to boot the image again is still to be processed. `mark` is the annotation reprovision-requested, an RFC 3339
 * time; any other text is no request. Nor is a mark that is older than the Server: a backup restores the mark of a claim, but not
 * `status.servedReprovision`, and its machine runs on.
 */
export function isReprovisionPending({ metadata, status }: Server, mark: string | undefined): boolean {
  const timeOf = (text: string | undefined): number => Date.parse(text ?? '') || 0;
  return timeOf(mark) > Math.max(timeOf(status?.servedReprovision), timeOf(metadata.creationTimestamp));
}
