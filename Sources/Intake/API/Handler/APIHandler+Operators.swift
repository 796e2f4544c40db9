internal import CardRules
internal import Lanes

/// What an operator may do.
extension APIHandler {
    /// Nothing is done where one of the devices is not there.
    func makeUpMoment(_ request: ParkedRequest) async {
        do throws(Problem) {
            let document = try request.document()
            let body: MomentBody
            do throws(FieldFault) { body = try MomentBody(document) } catch { throw Problem(error) }
            do throws(MomentFault) {
                try await supervisor.makeUpMoment(
                    game: body.game, kind: body.kind, seconds: body.seconds, devices: body.devices)
            } catch {
                throw error == .unavailable ? .tryAgain(error.detail) : Problem(422, error.detail, field: error.field)
            }
            request.answer(status: 202)
        } catch {
            request.answer(error)
        }
    }

    func beginProbe(_ request: ParkedRequest) async {
        do throws(Problem) {
            let document = try request.document()
            let body: ProbeBody
            do throws(FieldFault) { body = try ProbeBody(document) } catch { throw Problem(error) }
            let variants: [ProbeVariant]
            do throws(ProbeFault) {
                variants = try await supervisor.probe(body.device, gateway: body.gateway)
            } catch {
                throw Problem(error)
            }
            let began = clock.now
            request.answer(
                202,
                json: JSONBuilder.object { json in
                    json.array("variants", variants.enumerated()) { json, variant in
                        json.object {
                            $0.member("name", variant.element.rawValue)
                            $0.member(
                                "at", began.advanced(bySeconds: Double(variant.offset) * ProbeVariant.gapSeconds))
                        }
                    }
                })
        } catch {
            request.answer(error)
        }
    }

    func pause(_ request: ParkedRequest) async {
        guard let gateway = request.match.values.gateway else { return }
        do { try await supervisor.pause(gateway) } catch {
            return request.answer(.tryAgain("the store cannot write now"))
        }
        request.answer(status: 204)
    }

    func resume(_ request: ParkedRequest) async {
        guard let gateway = request.match.values.gateway else { return }
        do { try await supervisor.resume(gateway) } catch {
            return request.answer(.tryAgain("the store cannot write now"))
        }
        request.answer(status: 204)
    }
}

extension Problem {
    fileprivate init(_ fault: ProbeFault) {
        switch fault {
        case .unknownDevice: self.init(422, fault.detail, field: "/device")
        case .unavailable, .overloaded: self = .tryAgain(fault.detail)
        case .running, .obstacle: self.init(fault.isConflict ? 409 : 422, fault.detail)
        }
    }
}
