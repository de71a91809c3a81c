import CLibAV
import HLSKitMedia

extension Muxer {
    func add(_ track: MediaTrack) throws(CodecError) {
        guard let identifier = identifier(of: track),
            let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar
        else {
            throw CodecError(
                call: "avformat_new_stream", code: CodecError.invalidArgument,
                text: "no stream for \(track.codec.rawValue)")
        }
        // libavformat would write a description that no reader accepts.
        if track.codec == .ac3, track.sampleRate > 0, track.sampleRate < 32_000, isMP4 {
            throw CodecError(
                call: "avformat_new_stream", code: CodecError.invalidArgument,
                text: "mp4 cannot hold AC-3 of \(track.sampleRate) Hz")
        }
        stream.pointee.time_base = AVRational(num: 1, den: max(1, track.timescale))
        parameters.pointee.codec_id = identifier
        setLanguage(of: track, stream)
        setLabel(track.label, of: stream)
        switch track.mediaType {
        case .video:
            parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
            parameters.pointee.width = Int32(clamping: track.width)
            parameters.pointee.height = Int32(clamping: track.height)
            // The box that describes VP9 contains its pixel format, which no other container needs.
            if track.codec == .vp9 {
                let isDeep = TransferFunction(rawValue: track.declaredColor?.transferCharacteristics ?? 2)
                    .isHighDynamicRange
                let structure = track.sampleStructure ?? PictureSampleStructure(bitDepth: isDeep ? 10 : 8)
                let depth = structure.bitDepth > 8 ? "\(structure.bitDepth)le" : ""
                parameters.pointee.format = av_get_pix_fmt("yuv\(structure.chroma.rawValue)p\(depth)").rawValue
            }
            setVideo(of: track, stream, parameters)
            Self.setVolume(of: track, stream)
            Self.setSphere(of: track, stream)
            // Apple's players accept no other name, and the parameter sets are in the header.
            if isMP4, track.codec == .hevc {
                let isHEV1 = track.sampleEntry == "hev1" || track.sampleEntry == "dvhe"
                parameters.pointee.codec_tag = isHEV1 ? Self.tag("hev1") : Self.tag("hvc1")
            }
            let entry = track.needsDolbyVision && track.sampleEntry.isEmpty ? "dvh1" : track.sampleEntry
            if isMP4, let name = Self.baseEntryName(entry) { sink.entryNames[name] = entry }
        case .text:
            parameters.pointee.codec_type = AVMEDIA_TYPE_SUBTITLE
            // libavformat numbers tracks from 1.
            if isMP4, !track.label.isDefault {
                sink.additions.disabledTrackIDs.insert(Int(stream.pointee.index) + 1)
            }
        case .audio, .metadata:
            parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
            parameters.pointee.sample_rate = Int32(clamping: track.sampleRate)
            if track.channelCount > 0 {
                av_channel_layout_default(&parameters.pointee.ch_layout, Int32(clamping: track.channelCount))
            }
            if isMP4, track.codec == .eac3 {
                sink.additions.extensions.append(track.enhancedAC3Extension)
                // The extension replaces the box with the bit rate, so that box must exist.
                parameters.pointee.bit_rate = Int64(track.enhancedAC3Extension?.bitRate ?? 0)
            }
        }
        try setConfiguration(of: track, parameters)
    }

    private func setLanguage(of track: MediaTrack, _ stream: UnsafeMutablePointer<AVStream>) {
        guard let language = track.language else { return }
        var code = LanguageCode.threeLetters(of: language, isBibliographic: isMatroska)
        if let extended = ExtendedLanguage(language, code: code) {
            if isMatroska {
                let base = code ?? "und"
                sink.additions.matroskaLanguages.append((extended, base))
                code = extended.matroskaLanguage(code: base)
            } else if isMP4 {
                sink.additions.languages.insert(extended)
                let name = [MediaKind.video: "Video", .text: "Subtitle"][track.mediaType] ?? "Sound"
                av_dict_set(&stream.pointee.metadata, "handler_name", extended.handlerName("\(name)Handler"), 0)
            }
        }
        if let code { av_dict_set(&stream.pointee.metadata, "language", code, 0) }
    }

    /// The name that libavformat writes for a sample entry of Dolby Vision, or nil for other entries.
    private static func baseEntryName(_ entry: String) -> String? {
        switch entry {
        case "dvh1": "hvc1"
        case "dvhe": "hev1"
        case "dva1", "dvav": "avc1"
        case "dav1": "av01"
        default: nil
        }
    }

    private func setLabel(_ label: MediaTrackLabel, of stream: UnsafeMutablePointer<AVStream>) {
        if let name = label.name, !name.isEmpty { av_dict_set(&stream.pointee.metadata, "title", name, 0) }
        let flags: [(Bool, Int32)] = [
            (label.isDefault, AV_DISPOSITION_DEFAULT), (label.isForced, AV_DISPOSITION_FORCED),
            (label.describesAudio, AV_DISPOSITION_HEARING_IMPAIRED),
            (label.describesVideo, AV_DISPOSITION_VISUAL_IMPAIRED),
        ]
        for (isSet, flag) in flags where isSet { stream.pointee.disposition |= flag }
    }

    private var isMatroska: Bool { String(cString: context.pointee.oformat.pointee.name) == "matroska" }
    private var isMP4: Bool { String(cString: context.pointee.oformat.pointee.name) == "mp4" }

    private func identifier(of track: MediaTrack) -> AVCodecID? {
        guard track.mediaType == .text else { return CodecRegistry.identifier(of: track.codec) }
        return isMatroska ? AV_CODEC_ID_SUBRIP : AV_CODEC_ID_MOV_TEXT
    }

    // MARK: - Configuration

    private func setConfiguration(
        of track: MediaTrack, _ parameters: UnsafeMutablePointer<AVCodecParameters>
    ) throws(CodecError) {
        let isTimedText = parameters.pointee.codec_id == AV_CODEC_ID_MOV_TEXT
        let configuration =
            track.mediaType != .text ? track.decoderConfiguration : isTimedText ? Self.textDescription : []
        guard let data = try ExtraData(configuration) else { return }
        parameters.pointee.extradata = data.bytes
        parameters.pointee.extradata_size = data.byteCount
    }

    /// The default style of timed text: white, centred, at the bottom (3GPP TS 26.245, 5.16). FFmpeg treats this font
    /// as undeclared, so it does not appear after conversion to another format.
    private static let textDescription: [UInt8] =
        [0, 0, 0, 0, 1, 0xFF, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0]
        + [0, 0, 0, 0, 0, 1, 0, 16, 0xFF, 0xFF, 0xFF, 0xFF] + [0, 0, 0, 18] + Array("ftab".utf8)
        + [0, 1, 0, 1, 5] + Array("Arial".utf8)

    // MARK: - Video

    private static func tag(_ name: String) -> UInt32 { name.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) } }

    /// Adds side data of a C type to the stream, zeroed first.
    private static func setData<Value>(
        _ type: AVPacketSideDataType, of stream: UnsafeMutablePointer<AVStream>, _ set: (inout Value) -> Void
    ) {
        let size = MemoryLayout<Value>.size
        guard let bytes = av_stream_new_side_data(stream, type, size) else { return }
        UnsafeMutableRawPointer(bytes).initializeMemory(as: UInt8.self, repeating: 0, count: size)
        bytes.withMemoryRebound(to: Value.self, capacity: 1) { set(&$0.pointee) }
    }

    private static func setVolume(of track: MediaTrack, _ stream: UnsafeMutablePointer<AVStream>) {
        if let volume = track.masteringDisplayColorVolume {
            setData(AV_PKT_DATA_MASTERING_DISPLAY_METADATA, of: stream) { (data: inout AVMasteringDisplayMetadata) in
                data.set(volume)
            }
        }
        if let light = track.contentLightLevelInfo {
            setData(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, of: stream) { (data: inout AVContentLightMetadata) in
                data.MaxCLL = UInt32(clamping: light.maximumContentLightLevel)
                data.MaxFALL = UInt32(clamping: light.maximumFrameAverageLightLevel)
            }
        }
        let record = track.dolbyVision
        guard record.count >= 5 else { return }
        setData(AV_PKT_DATA_DOVI_CONF, of: stream) { (data: inout AVDOVIDecoderConfigurationRecord) in
            (data.dv_version_major, data.dv_version_minor) = (record[0], record[1])
            data.dv_profile = record[2] >> 1
            data.dv_level = (record[2] & 1) << 5 | record[3] >> 3
            data.rpu_present_flag = record[3] >> 2 & 1
            data.el_present_flag = record[3] >> 1 & 1
            data.bl_present_flag = record[3] & 1
            data.dv_bl_signal_compatibility_id = record[4] >> 4
        }
    }

    private static func setSphere(of track: MediaTrack, _ stream: UnsafeMutablePointer<AVStream>) {
        let modes = ContainerReader.stereoModes
        if let mode = track.stereoMode.map(Int.init), modes.indices.contains(mode) {
            setData(AV_PKT_DATA_STEREO3D, of: stream) { (data: inout AVStereo3D) in data.type = modes[mode] }
        }
        guard let mapping = track.sphericalMapping else { return }
        setData(AV_PKT_DATA_SPHERICAL, of: stream) { (data: inout AVSphericalMapping) in
            (data.yaw, data.pitch, data.roll) = (mapping.yaw, mapping.pitch, mapping.roll)
            switch mapping.projection {
            case .cubemap(let padding):
                data.projection = AV_SPHERICAL_CUBEMAP
                data.padding = padding
            case .equirectangular(let top, let bottom, let left, let right):
                let isPart = top | bottom | left | right != 0
                data.projection = isPart ? AV_SPHERICAL_EQUIRECTANGULAR_TILE : AV_SPHERICAL_EQUIRECTANGULAR
                (data.bound_top, data.bound_bottom) = (top, bottom)
                (data.bound_left, data.bound_right) = (left, right)
            }
        }
    }

    private func setVideo(
        of track: MediaTrack, _ stream: UnsafeMutablePointer<AVStream>,
        _ parameters: UnsafeMutablePointer<AVCodecParameters>
    ) {
        if let color = track.declaredColor.map(LibAVColor.init) {
            parameters.pointee.color_primaries = color.primaries
            parameters.pointee.color_trc = color.transfer
            parameters.pointee.color_space = color.matrix
            if let range = color.range { parameters.pointee.color_range = range }
        }
        if let aspect = track.pixelAspectRatio, let width = Int32(exactly: aspect.horizontalSpacing),
            let height = Int32(exactly: aspect.verticalSpacing), width > 0, height > 0
        {
            let ratio = AVRational(num: width, den: height)
            parameters.pointee.sample_aspect_ratio = ratio
            stream.pointee.sample_aspect_ratio = ratio
        }
        guard let matrix = Self.matrix(of: track),
            let data = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 4 * matrix.count)
        else { return }
        matrix.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            UnsafeMutableRawPointer(data).copyMemory(from: base, byteCount: bytes.count)
        }
    }

    /// The matrix of a quarter turn, with the corner moved back to the origin of the frame, or nil for an upright
    /// frame.
    ///
    /// Source: ISO/IEC 14496-12 §6.2.2. Numbers are 16.16, and the last column is 2.30.
    private static func matrix(of track: MediaTrack) -> [Int32]? {
        let (one, last) = (Int32(1 << 16), Int32(1 << 30))
        let width = Int32(clamping: track.width << 16)
        let height = Int32(clamping: track.height << 16)
        switch track.rotation {
        case 90: return [0, one, 0, -one, 0, 0, height, 0, last]
        case 180: return [-one, 0, 0, 0, -one, 0, width, height, last]
        case 270: return [0, -one, 0, one, 0, 0, 0, width, last]
        default: return nil
        }
    }
}

extension MediaTrack {
    /// Whether players without Dolby Vision show false colours: profile 5.
    fileprivate var needsDolbyVision: Bool { dolbyVision.count > 2 && dolbyVision[2] >> 1 == 5 }
}
