import CLibAV
import HLSKitMedia

extension ContainerReader {
    static func describeVideo(_ parameters: AVCodecParameters, of track: inout MediaTrack) {
        track.width = max(0, Int(parameters.width))
        track.height = max(0, Int(parameters.height))
        let aspect = parameters.sample_aspect_ratio
        if aspect.num > 0, aspect.den > 0 {
            track.pixelAspectRatio = PixelAspectRatio(
                horizontalSpacing: Int(aspect.num), verticalSpacing: Int(aspect.den))
        }
        track.colorInformation = color(of: parameters)
        guard track.codec == .vp9, let format = av_pix_fmt_desc_get(AVPixelFormat(parameters.format))?.pointee else {
            return
        }
        let chroma: PictureSampleStructure.Chroma =
            format.log2_chroma_w == 0 ? .yuv444 : format.log2_chroma_h == 0 ? .yuv422 : .yuv420
        track.sampleStructure = PictureSampleStructure(bitDepth: Int(format.comp.0.depth), chroma: chroma)
    }

    /// Returns the colour of video, or nil if it is undeclared.
    static func color(of parameters: AVCodecParameters) -> ColorInformation? {
        let isDeclared =
            parameters.color_primaries != AVCOL_PRI_UNSPECIFIED || parameters.color_trc != AVCOL_TRC_UNSPECIFIED
            || parameters.color_space != AVCOL_SPC_UNSPECIFIED
        guard parameters.codec_type == AVMEDIA_TYPE_VIDEO, isDeclared else { return nil }
        return ColorInformation(
            colorPrimaries: Int(parameters.color_primaries.rawValue),
            transferCharacteristics: Int(parameters.color_trc.rawValue),
            matrixCoefficients: Int(parameters.color_space.rawValue),
            isFullRange: parameters.color_range == AVCOL_RANGE_JPEG)
    }

    /// Describes HDR, Dolby Vision, and the form and orientation of frames.
    static func describeSideData(of stream: UnsafeMutablePointer<AVStream>, in track: inout MediaTrack) {
        func data<Value: BitwiseCopyable>(_ type: AVPacketSideDataType, as _: Value.Type) -> Value? {
            var byteCount = Int64(0)
            guard let bytes = CLibAV_stream_side_data(stream, type, &byteCount),
                byteCount >= MemoryLayout<Value>.size
            else { return nil }
            return UnsafeRawPointer(bytes).loadUnaligned(as: Value.self)
        }
        track.masteringDisplayColorVolume = data(
            AV_PKT_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self
        ).map(MasteringDisplayColorVolume.init)
        track.contentLightLevelInfo = data(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self).map {
            ContentLightLevelInfo(
                maximumContentLightLevel: Int($0.MaxCLL), maximumFrameAverageLightLevel: Int($0.MaxFALL))
        }
        if let record = data(AV_PKT_DATA_DOVI_CONF, as: AVDOVIDecoderConfigurationRecord.self) {
            track.dolbyVision = bytes(of: record)
        }
        if let type = data(AV_PKT_DATA_STEREO3D, as: AVStereo3D.self)?.type {
            track.stereoMode = stereoModes.firstIndex(of: type).map(UInt8.init)
        }
        track.sphericalMapping = data(AV_PKT_DATA_SPHERICAL, as: AVSphericalMapping.self).flatMap(SphericalMapping.init)
        if let matrix = data(AV_PKT_DATA_DISPLAYMATRIX, as: Matrix.self) {
            track.preferredTransform = TrackTransform(
                a: number(matrix.0), b: number(matrix.1), c: number(matrix.3), d: number(matrix.4),
                tx: number(matrix.6), ty: number(matrix.7))
            track.rotation = track.preferredTransform.rotation
        }
    }

    private typealias Matrix = (Int32, Int32, Int32, Int32, Int32, Int32, Int32, Int32, Int32)

    private static func number(_ value: Int32) -> Double { Double(value) / 65_536 }

    /// The arrangements in the order of the numbers in MP4 (`st3d`).
    static let stereoModes = [AV_STEREO3D_2D, AV_STEREO3D_TOPBOTTOM, AV_STEREO3D_SIDEBYSIDE]

    /// The record as in MP4 (`dvcC`).
    private static func bytes(of record: AVDOVIDecoderConfigurationRecord) -> [UInt8] {
        let flags = (record.rpu_present_flag & 1) << 2 | (record.el_present_flag & 1) << 1 | record.bl_present_flag & 1
        let head = [
            record.dv_version_major, record.dv_version_minor, record.dv_profile << 1 | record.dv_level >> 5 & 1,
            record.dv_level << 3 | flags, record.dv_bl_signal_compatibility_id << 4,
        ]
        return head + [UInt8](repeating: 0, count: 19)
    }
}

extension SphericalMapping {
    /// Returns nil for projections that MP4 does not describe.
    fileprivate init?(_ data: AVSphericalMapping) {
        switch data.projection {
        case AV_SPHERICAL_EQUIRECTANGULAR: self.init(.equirectangular(top: 0, bottom: 0, left: 0, right: 0))
        case AV_SPHERICAL_EQUIRECTANGULAR_TILE:
            self.init(
                .equirectangular(
                    top: data.bound_top, bottom: data.bound_bottom, left: data.bound_left, right: data.bound_right))
        case AV_SPHERICAL_CUBEMAP: self.init(.cubemap(padding: data.padding))
        default: return nil
        }
        (yaw, pitch, roll) = (data.yaw, data.pitch, data.roll)
    }
}
