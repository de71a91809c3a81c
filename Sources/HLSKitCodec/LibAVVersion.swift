import CLibAV

package enum LibAVVersion {
    /// The name that libavformat writes to files, such as `Lavf59.27.100`.
    package static var formatIdentifier: String {
        let version = avformat_version()
        return "Lavf\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
    }
}
