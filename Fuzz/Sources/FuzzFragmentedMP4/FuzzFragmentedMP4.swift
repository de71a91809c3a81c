import HLSKitMedia

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    do {
        try DemuxerChecks.check(Array(UnsafeBufferPointer(start: start, count: count)), as: .fragmentedMP4)
    } catch {
        fatalError(error.description)
    }
    return 0
}
