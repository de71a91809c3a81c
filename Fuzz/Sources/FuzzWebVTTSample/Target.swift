import HLSMedia

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let sample = try? WebVTTSample(parsing: bytes[...], start: .seconds(1), end: .seconds(2)) else { return 0 }
    for cue in sample.cues { precondition(!cue.payload.isEmpty && cue.text.utf8.count <= 4 * cue.payload.utf8.count) }
    return 0
}
