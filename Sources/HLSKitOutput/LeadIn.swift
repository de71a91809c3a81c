package import HLSKitTime

/// A writer that begins with the first video sample and chooses the audio samples of that time by itself.
///
/// The first video sample may precede the start of the presentation.
package protocol LeadInWriter: SampleWriter {
    /// Announces the audio samples before `start`, at which the presentation starts.
    func beginLeadIn(before start: MediaTime)
}

/// The media before the requested start of a file, which decoding its first frame needs.
package enum LeadIn {
    /// The longest hidden lead-in. Players must decode it before they show the first frame.
    package static let longestHidden = Duration.seconds(10)
    /// A start that is earlier by less is not reported.
    private static let unnoticed = Duration.milliseconds(100)

    /// Returns the text that reports a visible lead-in, or nil if nobody notices it.
    ///
    /// - Parameter isHideable: Whether the container could hide a shorter one.
    package static func note(_ length: Duration, isHideable: Bool) -> String? {
        guard length > unnoticed else { return nil }
        let hint = isHideable ? "" : "; the mp4 file of a download hides up to \(longestHidden.components.seconds) s"
        let tenths = length.wholeMicroseconds / 100_000
        return "the file begins \(tenths / 10).\(tenths % 10) s before the requested start, at the previous sync "
            + "frame\(hint)"
    }
}
