package import HLSKitCore

// Writes to a writer whose format is only known at run time.
extension MediaWriter {
    package func write(_ frame: VideoFrame, ofTrackAt index: Int) throws {
        try (self as? any FrameWriter ?? { throw WrongKind() }()).write(frame, ofTrackAt: index)
    }

    package func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws {
        try (self as? any AudioWriter ?? { throw WrongKind() }()).write(buffer, ofTrackAt: index)
    }

    package func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws {
        try (self as? any SampleWriter ?? { throw WrongKind() }()).write(sample, ofTrackAt: index, at: itemTime)
    }
}

private struct WrongKind: Error {}
