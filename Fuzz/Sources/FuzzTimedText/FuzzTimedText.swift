import HLSKitCaptions

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    do {
        try ReaderChecks.check(Array(UnsafeBufferPointer(start: start, count: count)), as: .iTunesTimedText)
    } catch {
        fatalError(error.description)
    }
    return 0
}
