/**
 * Length of the first zstd frame (RFC 8878, 3.1.1). Decompressors reject what follows it in the sectors of a qcow2 cluster.
 * Beyond the end of the data for a frame that is cut off.
 */
export function zstdFrameLength(data: Buffer): number {
  const descriptor = data[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  let at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (let isLast = false; !isLast && at + 3 <= data.length; ) {
    const header = data.readUIntLE(at, 3);
    isLast = (header & 1) === 1;
    const isRepeatedByte = ((header >> 1) & 3) === 1;
    at += 3 + (isRepeatedByte ? 1 : header >> 3);
  }
  return at + ((descriptor & 4) === 0 ? 0 : 4);
}
