/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of writes. */
export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string | undefined;
  readonly subresource?: 'status' | undefined;
}

/** Options of patches. */
export interface PatchOptions extends WriteOptions {
  /** The write fails with Conflict unless the object is still at this version. */
  readonly resourceVersion?: string | undefined;
}

/** Options of lists. */
export interface ListOptions extends CallOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects per request. Default: 500. */
  readonly pageSize?: number | undefined;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Of the whole list; watch from that of the last page. */
  readonly resourceVersion: string;
}
