import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// The keys and initialization sections of a lane, shared by all segments that need them.
struct ResourceBodies: Sendable {
    private var bodies: [ResourceID: [UInt8]] = [:]
    private var initializations: [ResourceID: MP4InitializationSection] = [:]
    /// The initialization sections of transport streams and WebVTT.
    private var prologues: [ResourceID: [UInt8]] = [:]

    mutating func provide(_ resource: ResourceID, _ bytes: [UInt8]) { bodies[resource] = bytes }

    /// Returns the decryption for a complete resource, or `nil` if the key is not available or only for samples.
    func decryption(with key: SegmentKey) -> SegmentDecryption? {
        guard !key.isOfSamples, let bytes = bodies[key.resource] else { return nil }
        return try? SegmentDecryption(key: bytes, vector: key.initializationVector)
    }

    /// Gives a segment its key and initialization section. Returns `false` while one of them is still loading.
    mutating func prepare(
        _ reader: inout SegmentReader, needsInitialization: Bool
    ) throws(SegmentFailure) -> Bool {
        if let key = reader.job.key {
            guard let bytes = bodies[key.resource] else { return false }
            let vector = key.initializationVector
            if key.isOfSamples {
                reader.sampleDecryption = try SampleDecryption(key: bytes, vector: vector)
            } else {
                reader.decryption = try SegmentDecryption(key: bytes, vector: vector)
            }
        }
        if let map = reader.job.map, needsInitialization {
            guard let bytes = bodies[map] else { return false }
            if let known = initializations[map] {
                reader.initialization = known
            } else if let tables = prologues[map] {
                reader.prologue = tables
            } else {
                var clear = bytes
                if let key = reader.job.mapKey {
                    guard let keyBytes = bodies[key.resource] else { return false }
                    clear = try SegmentDecryption.decryptWhole(bytes, key: keyBytes, key.initializationVector)
                }
                do throws(MediaError) {
                    switch ContainerProbe.identify(clear[...], isComplete: true) {
                    case .transportStream, .webVTT:
                        prologues[map] = clear
                        reader.prologue = clear
                    default:
                        let section = try MP4InitializationSection(parsing: clear[...])
                        initializations[map] = section
                        reader.initialization = section
                    }
                } catch {
                    // Remove the section, so that the next segment that needs it waits until it is loaded again.
                    bodies[map] = nil
                    throw .badInitializationSection(error)
                }
            }
        }
        return true
    }
}
