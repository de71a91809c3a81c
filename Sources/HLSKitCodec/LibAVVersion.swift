import CLibAV

/// The versions of FFmpeg's libraries that the program runs with.
package enum LibAVVersion {
    /// As libavformat names itself in files, such as `Lavf59.27.100`.
    package static var formatIdentifier: String {
        let version = avformat_version()
        return "Lavf\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
    }
}
