import HLSKitCore
@testable import HLSKitSimulation

/// Checks that parsing ends, that events are in the order of their times, and that the recorded bandwidth is a valid
/// trace.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let recording = try? NetworkRecording(parsing: bytes) else { return 0 }
    for exchange in recording.exchanges {
        var last = exchange.time
        for (time, _) in exchange.events {
            precondition(time >= last)
            last = time
        }
    }
    guard let text = recording.bandwidthTrace() else { return 0 }
    precondition((try? NetworkTrace(parsing: text.utf8)) != nil, text)
    return 0
}
