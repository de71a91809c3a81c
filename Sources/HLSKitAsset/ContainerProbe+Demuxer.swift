package import HLSKitMedia

extension ContainerProbe.Container {
    /// Creates the demuxer for this container.
    ///
    /// - Parameter initialization: The header of MP4 segments, or `nil` for a bare file, which contains its own.
    package func makeDemuxer(initialization: MP4InitializationSection?) throws(MediaError) -> any Demuxer {
        switch self {
        case .transportStream: TransportStreamDemuxer()
        case .packedAudio: PackedAudioDemuxer()
        case .mp4:
            if let initialization {
                FragmentedMP4Demuxer(initialization: initialization)
            } else {
                ProgressiveMP4Demuxer()
            }
        case .webVTT:
            throw MediaError(code: .unknownContainer, byteOffset: 0, text: "WebVTT where media belongs")
        case .unknown(let appearance): throw ContainerProbe.refusal(ofAppearance: appearance)
        }
    }
}
